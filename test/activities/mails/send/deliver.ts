import { composeAgentFailureMail } from '../../../../activities/mails/operators/agent-failure-mail.ts';
import type { MailDelivery } from '../../../../activities/mails/send/delivery.ts';
import type { DeliveryOptions, Mailer } from '../../../../activities/mails/send/mailer.ts';

/** Closes the resources of a test in reverse order. */
export const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const never = new AbortController().signal;

/** Delivers a mail without Temporal. */
export async function deliver(mailer: Mailer, options: Partial<DeliveryOptions> = {}): Promise<MailDelivery> {
  const mail = composeAgentFailureMail(
    {
      site: 'handbook',
      rule: 'changelog',
      changeId: 'agent:handbook:changelog:1',
      event: 'job-failed',
      to: 'ops@example.com',
      jobId: 'aj_1',
      message: '.\n..\nit broke',
    },
    { sender: mailer.sender, date: new Date('2026-11-21T08:00:00Z') },
  );
  return await mailer.deliver(mail, {
    beforeLastLine: async () => {},
    unlessReleased: never,
    anyway: never,
    ...options,
  });
}
