import { useEffect, useRef } from 'preact/hooks'
import { Empty, Problem } from '../../components/notice.tsx'
import type { Route } from '../../page/route.ts'
import { versionsAt } from './branches.ts'
import { flawOf, type Partner } from './chat-message.ts'
import { Composer } from './composer.tsx'
import { Conversations } from './conversations.tsx'
import { MessageView } from './message.tsx'
import { useChat } from './use-chat.ts'

interface ChatProps {
  readonly partner: Partner
  /** The saved conversation to go on with. */
  readonly sessionId: string | undefined
  readonly route: Route
}

/** Pixels from the end of the page within which it follows a growing answer. */
const nearEnd = 160

/** A conversation with a persona or a model. */
export function Chat({ partner, sessionId, route }: ChatProps) {
  const chat = useChat(partner, sessionId, route)
  const description = partner.persona?.description
  const end = useRef<HTMLDivElement>(null)
  const last = chat.messages.at(-1)
  // The greeting of a persona stands before it.
  const firstQuestion = chat.messages.find(({ role }) => role === 'user')
  const follows = useRef(true)
  useEffect(() => {
    const look = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      follows.current = scrollHeight - scrollTop - clientHeight < nearEnd
    }
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: 'end' })
  }, [last?.text, last?.calls, last?.isWriting])
  return (
    <div class="chat-page">
      <Conversations partner={partner} current={chat.session} onNew={chat.startAnew} />
      <div class="chat">
        <Problem of={chat.loadProblem} />
        {chat.messages.length === 0 && !chat.isLoading && (
          <Empty title={partner.persona ? `Say something to ${partner.name}` : 'Ask something'}>
            {description && <p class="text">{description.slice(0, 400)}</p>}
          </Empty>
        )}
        <ol class="messages" aria-label="Conversation">
          {chat.messages.map((message) => (
            <MessageView
              key={message.id}
              partner={partner}
              message={message}
              onRetry={message === last ? chat.retry : undefined}
              versions={
                chat.session === undefined || message.at === undefined || message.role !== 'user'
                  ? undefined
                  : versionsAt(chat.session, chat.family, message.at)
              }
              onShowVersion={chat.showVersion}
              onEdit={chat.isAnswering ? undefined : (text) => chat.edit(message, text)}
              onAgain={
                chat.isAnswering || message.id < (firstQuestion?.id ?? 0)
                  ? undefined
                  : (model) => chat.answerAgain(message, model)
              }
            />
          ))}
        </ol>
        <p class="unseen" role="status">
          {chat.isAnswering
            ? last?.calls?.some(({ state }) => state === 'asks')
              ? 'The model wants to call a tool: allow or deny it'
              : 'The answer is being written'
            : last?.role === 'assistant'
              ? (flawOf(last)?.sentence ?? 'The answer is complete')
              : ''}
        </p>
        <Composer
          isAnswering={chat.isAnswering}
          place={chat.draftPlace}
          onSend={(text, attachments) => {
            follows.current = true
            chat.send(text, attachments)
          }}
          onStop={chat.stop}
        />
        <div ref={end} />
      </div>
    </div>
  )
}
