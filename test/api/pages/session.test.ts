import { createSessions, operatorName } from '../../../api/pages/session.ts';
import { createSignInFailures } from '../../../api/pages/sign-in-failures.ts';
import { createSignInLinks } from '../../../web/sign-in-links.ts';

const HOUR_MS = 60 * 60 * 1000;

/** A clock that tests advance. */
function clock() {
  let atMs = Date.parse('2026-11-21T10:00:00Z');
  const pass = (ms: number): void => {
    atMs += ms;
  };
  return { now: () => new Date(atMs), pass };
}

describe('a session', () => {
  it('is opened from its cookie by every process with the same token', () => {
    const { now } = clock();
    const session = createSessions('token', now).start('Ada');
    const value = createSessions('token', now).seal(session);
    expect(createSessions('token', now).open(value)).toEqual(session);
    expect(value).not.toContain('token');
  });

  it('is rejected with another token, if it was changed, and if it is not a session', () => {
    const { now } = clock();
    const sessions = createSessions('token', now);
    const value = sessions.seal(sessions.start('Ada'));
    const [text = '', signature = ''] = value.split('.');
    const forged = Buffer.from(JSON.stringify({ ...sessions.open(value), name: 'Eve' })).toString('base64url');
    expect(createSessions('another', now).open(value)).toBeUndefined();
    for (const wrong of [`${forged}.${signature}`, text, `${text}.`, `.${signature}`, '', '.', `${value}x`]) {
      expect(sessions.open(wrong)).toBeUndefined();
    }
  });

  it('ends 8 hours after its last renewal, and at the latest after 7 days', () => {
    const { now, pass } = clock();
    const sessions = createSessions('token', now);
    let session = sessions.start('Ada');
    expect(sessions.renew(session)).toBeUndefined();
    let hours = 0;
    for (; sessions.open(sessions.seal(session)) !== undefined && hours < 1_000; hours += 1) {
      session = sessions.renew(session) ?? session;
      pass(HOUR_MS);
    }
    expect(hours).toBe(7 * 24);
    const idle = sessions.start('Ada');
    pass(8 * HOUR_MS - 1);
    expect(sessions.open(sessions.seal(idle))).toEqual(idle);
    pass(1);
    expect(sessions.open(sessions.seal(idle))).toBeUndefined();
  });

  it('ends with signing out, also for its renewed cookies', () => {
    const { now, pass } = clock();
    const sessions = createSessions('token', now);
    const session = sessions.start('Ada');
    pass(HOUR_MS);
    const renewed = sessions.renew(session);
    sessions.end(session);
    expect(renewed && sessions.open(sessions.seal(renewed))).toBeUndefined();
  });

  it('has its own CSRF token', () => {
    const sessions = createSessions('token');
    const [one, other] = [sessions.start('Ada'), sessions.start('Ada')];
    expect(sessions.csrfOf(one)).toBe(sessions.csrfOf(one));
    expect(sessions.csrfOf(one)).not.toBe(sessions.csrfOf(other));
  });
});

describe('a name', () => {
  test.each(['Ada', ' Ada Lovelace ', 'ada@example.com', 'Zoë O’Neil'.replace('’', "'"), '田中'])(
    'can be %j',
    (name) => {
      expect(operatorName.parse(name)).toBe(name.trim());
    },
  );

  test.each(['', '   ', '<script>', 'a\nb', '\u202eevil', 'x'.repeat(61)])('can not be %j', (name) => {
    expect(operatorName.safeParse(name).success).toBe(false);
  });
});

describe('failed sign-ins', () => {
  it('count for their network, for 15 minutes or until a success', () => {
    const { now, pass } = clock();
    const failures = createSignInFailures(now);
    for (let count = 0; count < 3; count += 1) failures.add('192.0.2.0/24');
    pass(14 * 60_000);
    failures.add('192.0.2.0/24');
    expect([failures.count('192.0.2.0/24'), failures.count('198.51.100.0/24')]).toEqual([4, 0]);
    pass(60_000);
    expect(failures.count('192.0.2.0/24')).toBe(1);
    failures.forget('192.0.2.0/24');
    expect(failures.count('192.0.2.0/24')).toBe(0);
  });
});

describe('a sign-in link', () => {
  it('works once, within 15 minutes', () => {
    const { now, pass } = clock();
    const links = createSignInLinks(now);
    const [used, late] = [links.create(), links.create()];
    expect([links.find(used), links.use(used), links.use(used), links.find(used)]).toEqual([
      {},
      {},
      undefined,
      undefined,
    ]);
    const short = links.create({ id: 'a', name: 'Ada' }, 60_000);
    pass(60_000 - 1);
    expect(links.find(short)).toEqual({ id: 'a', name: 'Ada' });
    pass(1);
    expect(links.use(short)).toBeUndefined();
    pass(14 * 60 * 1000);
    expect([links.find(late), links.use(late), links.use('never made')]).toEqual([undefined, undefined, undefined]);
  });
});
