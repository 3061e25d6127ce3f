import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

/**
 * The point of an SMTP session at which the server reacts: a connection, a command, the first line of a message (`body`,
 * while the client may not have sent the rest), or the dot after its last line (`end`).
 */
export type SmtpStage = 'connect' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'body' | 'end';

/**
 * Replaces the server's default reply. `hang`: no reply. `cut`: closes the connection. At `end`, a message counts as
 * taken if the reply starts with 2, or if `taken` is set.
 */
export type SmtpReaction = { answer?: string; cut?: boolean; hang?: boolean; taken?: boolean };

export type SmtpMoment = {
  stage: SmtpStage;
  /** 1 for the server's first connection. */
  connection: number;
  /** How often this stage was reached, over all connections and including this time. */
  time: number;
};

export type TakenMail = { from: string; to: string[]; data: string; connection: number };

export type ScriptedSmtpServer = {
  url: string;
  /** The messages that a real server would have delivered. */
  taken: TakenMail[];
  /** Every moment so far, in order. */
  moments: SmtpMoment[];
  /** The commands without a stage. */
  otherCommands: string[];
  close(): Promise<void>;
};

export type React = (moment: SmtpMoment) => SmtpReaction | undefined | Promise<SmtpReaction | undefined>;

/** Reacts like this the first `times` times that a stage is reached. */
export const at =
  (stage: SmtpStage, reaction: SmtpReaction, times = 1): React =>
  (moment) =>
    moment.stage === stage && moment.time <= times ? reaction : undefined;

/** How many messages were sent up to their last line. */
export const lastLines = (server: ScriptedSmtpServer): number =>
  server.moments.filter(({ stage }) => stage === 'end').length;

const DEFAULT_REPLIES: Record<SmtpStage, string> = {
  connect: '220 scripted.test ESMTP',
  EHLO: '250-scripted.test\r\n250 8BITMIME',
  MAIL: '250 2.1.0 sender ok',
  RCPT: '250 2.1.5 recipient ok',
  DATA: '354 go ahead',
  body: '',
  end: '250 2.0.0 queued as 4711',
};

const OTHER_REPLIES: Readonly<Record<string, string>> = { AUTH: '235 welcome', STARTTLS: '502 not here' };

/**
 * A real SMTP server with scripted misbehavior, which MailDev can't provide. It calls `react` at every stage and awaits
 * it. Without a reaction it sends the default reply.
 */
export async function startScriptedSmtp(react: React = () => undefined, port?: number): Promise<ScriptedSmtpServer> {
  const taken: TakenMail[] = [];
  const moments: SmtpMoment[] = [];
  const otherCommands: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    void serve(socket, connections).catch(() => socket.destroy());
  });

  /** Reacts at a stage. `over`: whether the session has ended. */
  async function reactAt(
    socket: Socket,
    stage: SmtpStage,
    connection: number,
  ): Promise<{ text: string; taken: boolean; over: boolean }> {
    const moment = { stage, connection, time: moments.filter((each) => each.stage === stage).length + 1 };
    moments.push(moment);
    const { answer: scripted, cut = false, hang = false, taken: isTaken = false } = (await react(moment)) ?? {};
    const text = scripted ?? (cut || hang ? '' : DEFAULT_REPLIES[stage]);
    if (text !== '' && !socket.destroyed) socket.write(`${text}\r\n`);
    if (cut) socket.destroy();
    return { text, taken: isTaken || text.startsWith('2'), over: cut || hang };
  }

  async function serve(socket: Socket, connection: number): Promise<void> {
    let envelope: Pick<TakenMail, 'from' | 'to'> = { from: '', to: [] };
    let data: string[] | undefined;
    if ((await reactAt(socket, 'connect', connection)).over) return;
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (data !== undefined && line !== '.') {
        data.push(line.startsWith('.') ? line.slice(1) : line);
        if (data.length === 1 && (await reactAt(socket, 'body', connection)).over) return;
        continue;
      }
      if (data !== undefined) {
        const mail = { ...envelope, data: `${data.join('\r\n')}\r\n`, connection };
        data = undefined;
        const done = await reactAt(socket, 'end', connection);
        if (done.taken) taken.push(mail);
        if (done.over) return;
        continue;
      }
      const [verb = '', argument = ''] = line.split(/\s(.*)/s);
      const address = /<([^>]*)>/.exec(argument)?.[1] ?? '';
      switch (verb.toUpperCase()) {
        case 'EHLO':
          if ((await reactAt(socket, 'EHLO', connection)).over) return;
          break;
        case 'MAIL':
          envelope = { from: address, to: [] };
          if ((await reactAt(socket, 'MAIL', connection)).over) return;
          break;
        case 'RCPT':
          envelope.to.push(address);
          if ((await reactAt(socket, 'RCPT', connection)).over) return;
          break;
        case 'DATA': {
          const { text, over } = await reactAt(socket, 'DATA', connection);
          if (over) return;
          if (text.startsWith('3')) data = [];
          break;
        }
        case 'QUIT':
          socket.end('221 bye\r\n');
          return;
        default:
          otherCommands.push(line);
          socket.write(`${OTHER_REPLIES[verb.toUpperCase()] ?? '250 ok'}\r\n`);
      }
    }
  }

  const listeningAt = port ?? (await freePort());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listeningAt, '127.0.0.1', resolve);
  });
  return {
    url: `smtp://127.0.0.1:${listeningAt}`,
    taken,
    moments,
    otherCommands,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
