import { mailWords } from '../../contract/site-words.ts';

test.each([
  ['250 2.0.0 Ok: queued as 9A1B', 'The mail server accepted it. (250 2.0.0)'],
  ['550 5.1.1 <bob@example.com>: user unknown', /^There is no such mailbox: .* \(550 5\.1\.1\)$/],
  ['550 No such user here', /^There is no such mailbox: .* \(550\)$/],
  ['550 5.7.1 Relaying denied', /smtp\.from\. \(550 5\.7\.1\)$/],
  ['given up after 24 hours: 452 4.2.2 over quota', /^The mailbox is full: .* \(452 4\.2\.2\)$/],
  ['given up after 24 hours: 451-Greylisted', "The mail server didn't take it for now. (451)"],
  ['552 5.3.4 message size exceeds 10 MB', 'It is too large for the mail server. (552 5.3.4)'],
  ['571 Delivery not authorized', /^The mail server refused it: .* \(571\)$/],
])('the reply %j is told in words, with its codes', (reply, words) => {
  expect(mailWords(reply)).toEqual(typeof words === 'string' ? words : expect.stringMatching(words));
});

test.each(['the connection was lost', 'not a mail address: 550', 'connect ECONNREFUSED 127.0.0.1:250'])(
  '%j, which is no reply, stays as it is',
  (detail) => {
    expect(mailWords(detail)).toBe(detail);
  },
);
