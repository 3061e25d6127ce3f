import { z } from 'zod';

const person = z.object({ address: z.string(), name: z.string() });

/** A mail from MailDev's `GET /email`. Header names are in lower case; a repeated one has a list. */
const receivedMail = z.object({
  id: z.string(),
  subject: z.string().default(''),
  from: z.array(person).default([]),
  to: z.array(person).default([]),
  text: z.string().default(''),
  html: z.string().default(''),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
  /** The envelope's recipients, who get the mail whatever its headers say. */
  envelope: z.object({ to: z.array(z.object({ address: z.string() })) }),
});
export type ReceivedMail = z.infer<typeof receivedMail>;

export const receivedMails = z.array(receivedMail);
