/** Keeps the rows that migrations made beside their tables, for `reset`. */
export const remember = `CREATE SCHEMA made;
DO $$
DECLARE name text; is_empty boolean;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration' LOOP
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM public.%I)', name) INTO is_empty;
    IF NOT is_empty THEN EXECUTE format('CREATE TABLE made.%I AS TABLE public.%I', name, name); END IF;
  END LOOP;
END $$`

/**
 * Removes the rows of all tables, without their triggers and foreign keys, and restores the rows of migrations: faster
 * than a copy of the database. For a superuser.
 */
export const reset = `SET session_replication_role = replica;
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration' LOOP
    EXECUTE format('DELETE FROM public.%I', name);
  END LOOP;
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'made' LOOP
    EXECUTE format('INSERT INTO public.%I OVERRIDING SYSTEM VALUE TABLE made.%I', name, name);
  END LOOP;
  FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL LOOP
    EXECUTE format('ALTER SEQUENCE public.%I RESTART', name);
  END LOOP;
END $$;
RESET session_replication_role`
