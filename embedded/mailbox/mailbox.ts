import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { type GuardedChild, spawnGuarded } from '../guarded-child.ts';
import { freePort } from '../ports.ts';

/** Thrown if MailDev, a development dependency, isn't installed; the message is for the user. */
class MailboxUnavailable extends Error {
  override readonly name = 'MailboxUnavailable';
}

/** A mail server that accepts every mail and shows it on a page; nothing leaves this machine. */
export interface Mailbox {
  /** The URL for `smtp.url` in galley.yaml. */
  smtpUrl: string;
  /** The page that shows the mails. */
  webUrl: string;
  /** The page of one mail. */
  pageOf(mail: ReceivedMail): string;
  /** All received mails, oldest first. */
  mails(): Promise<ReceivedMail[]>;
  /** A mail as it came over the wire: headers, both parts, nothing decoded. */
  rawMail(mail: ReceivedMail): Promise<string>;
  /** Resolves when the server has ended for any reason. */
  exited: Promise<void>;
  /** Ends it and deletes its mails. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 30_000;

/** Another program may take a free port before the server listens on it, so retry. */
const FREE_PORT_ATTEMPTS = 3;

/**
 * Starts MailDev as a child that can't outlive this process, and waits until it accepts mails.
 * @throws MailboxUnavailable, Error with the server's last output.
 */
export async function startMailbox(): Promise<Mailbox> {
  const program = findMailDev();
  for (let attempt = 1; ; attempt += 1) {
    const started = await startOnce(program);
    if ('url' in started) return open(started);
    if (!started.said.includes('EADDRINUSE') || attempt >= FREE_PORT_ATTEMPTS)
      throw new Error(`The mailbox (MailDev) did not start: ${started.said}`);
  }
}

type Running = { child: GuardedChild; folder: string; smtpUrl: string; url: string };

async function startOnce(program: string): Promise<Running | { said: string }> {
  const smtpPort = await freePort({ host: HOST, port: 0, variable: 'the port for mails' });
  const webPort = await freePort({ host: HOST, port: 0, variable: "the port of the mailbox's page" });
  // The default is a folder named after its process id, which would never be deleted.
  const folder = await mkdtemp(join(tmpdir(), 'galley-mailbox-'));
  const child = spawnGuarded(
    process.execPath,
    [
      ...[program, '--ip', HOST, '--smtp', String(smtpPort), '--web', String(webPort)],
      ...['--mail-directory', folder, '--silent'],
    ],
    withoutItsVariables(),
  );
  const url = `http://${HOST}:${webPort}`;
  const started = await untilResponding({ url, smtpPort }, child);
  if (started) return { child, folder, smtpUrl: `smtp://${HOST}:${smtpPort}`, url };
  await child.stop();
  await remove(folder);
  return { said: child.output().trim() || 'no answer' };
}

function open({ child, folder, smtpUrl, url }: Running): Mailbox {
  return {
    smtpUrl,
    webUrl: url,
    pageOf: ({ id }) => `${url}/#/email/${id}`,
    mails: async () => {
      const answer = await fetch(`${url}/email`);
      return receivedMails.parse(await answer.json());
    },
    rawMail: async ({ id }) => await (await fetch(`${url}/email/${id}/source`)).text(),
    exited: child.exited,
    stop: async () => {
      await child.stop();
      await remove(folder);
    },
  };
}

function findMailDev(): string {
  try {
    return createRequire(import.meta.url).resolve('maildev/bin/maildev');
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error;
    throw new MailboxUnavailable(
      'The mailbox needs MailDev, a development dependency: run `npm ci` without --omit=dev in the checkout.',
    );
  }
}

const ownSettings = z.object({ smtpPort: z.coerce.number() });

/**
 * The web page listens last: once it responds, mails are accepted too. Compares the SMTP port, because another program may
 * have taken the page's port first and respond to anything.
 */
async function untilResponding(
  { url, smtpPort }: { url: string; smtpPort: number },
  child: GuardedChild,
): Promise<boolean> {
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!ended && Date.now() < deadline) {
    const settings: unknown = await fetch(`${url}/config`)
      .then((response) => response.json())
      .catch(() => undefined);
    if (ownSettings.safeParse(settings).data?.smtpPort === smtpPort) return true;
    await sleep(50);
  }
  return false;
}

/** Keeps variables that configure the user's own MailDev, such as a relay to the outside, from this one. */
function withoutItsVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MAILDEV_')));
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

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

const receivedMails = z.array(receivedMail);
