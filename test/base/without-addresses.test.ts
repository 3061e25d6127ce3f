import { withoutAddresses } from '../../base/without-addresses.ts';

test.each([
  ['connect ECONNREFUSED 10.0.0.5:8080', 'connect ECONNREFUSED (an address)'],
  ['connect ETIMEDOUT ::1:443', 'connect ETIMEDOUT (an address)'],
  ['connect ECONNREFUSED fd00::12', 'connect ECONNREFUSED (an address)'],
  [
    'Connect Timeout Error (attempted address: 192.168.1.7:443, timeout: 10000ms)',
    'Connect Timeout Error (attempted address: (an address), timeout: 10000ms)',
  ],
  ['at http://[fd00::1]:3000/api: refused', 'at http://(an address)/api: refused'],
  ['reached 10.1.2.3.', 'reached (an address).'],
  ['HTTP 503 after 4 tries, at 12:30:01 in version 1.2.3 of add.cafe.example', null],
])('%s names no address', (message, expected) => {
  expect(withoutAddresses(message)).toBe(expected ?? message);
});
