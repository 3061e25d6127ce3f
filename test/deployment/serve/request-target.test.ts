import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { requestTarget } from '../../../deployment/serve/request-target.ts';

test.each([
  ['/guides?page=1', '/guides?page=1'],
  ['//double', '//double'],
  ['http://docs.example.com/-/healthz', '/-/healthz'],
  ['HTTPS://docs.example.com:8080/a?b=http://c/', '/a?b=http://c/'],
  ['http://docs.example.com', '/'],
  ['http://docs.example.com?x', '/?x'],
  ['docs.example.com:443', 'docs.example.com:443'],
  ['*', '*'],
])('the target of the request line %s is %s', (url, target) => {
  expect(requestTarget(Object.assign(new IncomingMessage(new Socket()), { url }))).toBe(target);
});
