import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

/**
 * Where an SMTP session stands when the server is to answer: a connection, a command, the first lines of a message
 * (`body`, while the client may still hold back the rest), or the dot after its last line (`end`).
 */
export type SmtpStage = 'connect' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'body' | 'end';

/**
 * What the server does instead of its friendly answer. `hang` never answers, `cut` ends the connection. At `end` a
 * message counts as taken where the answer begins with 2, or with `taken`.
 */
export type SmtpReaction = { answer?: string; cut?: boolean; hang?: boolean; taken?: boolean };

export type SmtpMoment = {
  stage: SmtpStage;
  /** 1 for the server's first connection. */
  connection: number;
  /** How often this stage was come to, over all connections, this time included. */
  time: number;
};

export type TakenMail = { from: string; to: string[]; data: string; connection: number };

export type ScriptedSmtpServer = {
  url: string;
  /** What a real server would have put into mailboxes. */
  taken: TakenMail[];
  /** Every moment so far, in order. */
  moments: SmtpMoment[];
  /** The commands that it doesn't ask `react` about. */
  otherCommands: string[];
  close(): Promise<void>;
};

export type React = (moment: SmtpMoment) => SmtpReaction | undefined | Promise<SmtpReaction | undefined>;

/** Misbehaves at one stage, the first times it is come to. */
export const at =
  (stage: SmtpStage, reaction: SmtpReaction, times = 1): React =>
  (moment) =>
    moment.stage === stage && moment.time <= times ? reaction : undefined;

/** How many messages came to their last line. */
export const lastLines = (server: ScriptedSmtpServer): number =>
  server.moments.filter(({ stage }) => stage === 'end').length;

const FRIENDLY: Record<SmtpStage, string> = {
  connect: '220 scripted.test ESMTP',
  EHLO: '250-scripted.test\r\n250 8BITMIME',
  MAIL: '250 2.1.0 sender ok',
  RCPT: '250 2.1.5 recipient ok',
  DATA: '354 go ahead',
  body: '',
  end: '250 2.0.0 queued as 4711',
};

const OTHER_ANSWERS: Readonly<Record<string, string>> = { AUTH: '235 welcome', STARTTLS: '502 not here' };

/**
 * A real SMTP server that misbehaves to order, which MailDev can't: `react` is asked at every stage, and may take its
 * time. Without a reaction the answer is the friendly one.
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

  /** Does what it is told to at a stage; `over` where the session ends with that. */
  async function answer(
    socket: Socket,
    stage: SmtpStage,
    connection: number,
  ): Promise<{ text: string; taken: boolean; over: boolean }> {
    const moment = { stage, connection, time: moments.filter((each) => each.stage === stage).length + 1 };
    moments.push(moment);
    const { answer: scripted, cut = false, hang = false, taken: isTaken = false } = (await react(moment)) ?? {};
    const text = scripted ?? (cut || hang ? '' : FRIENDLY[stage]);
    if (text !== '' && !socket.destroyed) socket.write(`${text}\r\n`);
    if (cut) socket.destroy();
    return { text, taken: isTaken || text.startsWith('2'), over: cut || hang };
  }

  async function serve(socket: Socket, connection: number): Promise<void> {
    let envelope: Pick<TakenMail, 'from' | 'to'> = { from: '', to: [] };
    let data: string[] | undefined;
    if ((await answer(socket, 'connect', connection)).over) return;
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (data !== undefined && line !== '.') {
        data.push(line.startsWith('.') ? line.slice(1) : line);
        if (data.length === 1 && (await answer(socket, 'body', connection)).over) return;
        continue;
      }
      if (data !== undefined) {
        const mail = { ...envelope, data: `${data.join('\r\n')}\r\n`, connection };
        data = undefined;
        const done = await answer(socket, 'end', connection);
        if (done.taken) taken.push(mail);
        if (done.over) return;
        continue;
      }
      const [verb = '', argument = ''] = line.split(/\s(.*)/s);
      const address = /<([^>]*)>/.exec(argument)?.[1] ?? '';
      switch (verb.toUpperCase()) {
        case 'EHLO':
          if ((await answer(socket, 'EHLO', connection)).over) return;
          break;
        case 'MAIL':
          envelope = { from: address, to: [] };
          if ((await answer(socket, 'MAIL', connection)).over) return;
          break;
        case 'RCPT':
          envelope.to.push(address);
          if ((await answer(socket, 'RCPT', connection)).over) return;
          break;
        case 'DATA': {
          const { text, over } = await answer(socket, 'DATA', connection);
          if (over) return;
          if (text.startsWith('3')) data = [];
          break;
        }
        case 'QUIT':
          socket.end('221 bye\r\n');
          return;
        default:
          otherCommands.push(line);
          socket.write(`${OTHER_ANSWERS[verb.toUpperCase()] ?? '250 ok'}\r\n`);
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
