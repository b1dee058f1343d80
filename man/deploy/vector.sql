-- Lets PostgreSQL compare vectors itself; without it a search computes more in aichat.
CREATE EXTENSION IF NOT EXISTS vector;
