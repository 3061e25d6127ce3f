import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { MailResult } from '../../activities/mails/mail-input.ts';
import type { MailRecord } from '../../contract/agent-state.ts';
import { sendMail } from './mail-record.ts';

/** One mail to one recipient. */
export type DueMail = {
  event: string;
  to: string;
  /** Mails of one lane are sent one after the other, so that they arrive in the order of what they report. */
  lane: string;
  /** Whether what it reports is still true. Once it isn't, a mail that waits for its next attempt is canceled. */
  isWanted: () => boolean;
  send: (to: string, summary: string) => Promise<MailResult>;
  /** Records the outcome. After it, the mail must not be due any more. */
  onSent: (record: MailRecord) => void;
};

/**
 * Sends each mail as soon as it is due, until it is canceled. A mail server may defer a mail for a day and a half, so a
 * mail waits only for those of its own lane. A mail that was canceled certainly wasn't sent, and gets no record: if it is
 * still due in the next run, it is sent there.
 */
export async function sendDueMails(due: () => readonly DueMail[]): Promise<void> {
  const lanes = new Map<string, Promise<void>>();
  const next = (): DueMail | undefined => due().find(({ lane, isWanted }) => !lanes.has(lane) && isWanted());
  try {
    for (;;) {
      await condition(() => next() !== undefined);
      for (let mail = next(); mail !== undefined; mail = next()) {
        const { lane } = mail;
        lanes.set(
          lane,
          sendWhileWanted(mail).finally(() => lanes.delete(lane)),
        );
      }
    }
  } finally {
    // What is being sent is finished, so that the next run knows of it.
    await Promise.all(lanes.values());
  }
}

async function sendWhileWanted({ event, to, isWanted, send, onSent }: DueMail): Promise<void> {
  const scope = new CancellationScope();
  const sending = scope.run(() => sendMail(event, to, send));
  try {
    await Promise.race([sending, condition(() => !isWanted())]);
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
  scope.cancel();
  try {
    onSent(await sending);
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}
