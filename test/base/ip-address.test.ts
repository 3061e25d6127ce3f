import { clientNetwork, isAddressIn, isAddressRange, plainAddress } from '../../base/ip-address.ts';

describe('IP addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.0/24'],
    ['2001:db8:0:12::7', '2001:db8:0:12::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0012:1:2:3:4', '2001:db8:0:12::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s is of the client network %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });

  test.each(['203.0.113.7:80', '[203.0.113.7]:80', '::ffff:203.0.113.7', '203.0.113.7'])('%s is read', (text) => {
    expect(plainAddress(text)).toBe('203.0.113.7');
    expect([isAddressIn(['203.0.0.0/16'], text), isAddressIn(['203.0.113.8'], text)]).toEqual([true, false]);
  });

  test('ranges are addresses and networks', () => {
    for (const range of ['203.0.113.7', '10.0.0.0/8', '::1', '2001:db8::/32', '0.0.0.0/0']) {
      expect([range, isAddressRange(range)]).toEqual([range, true]);
    }
    for (const range of ['', 'loopback', '10.0.0.0/33', '10.0.0/8', '::1/129', '10.0.0.1 ', '10.0.0.0/']) {
      expect([range, isAddressRange(range)]).toEqual([range, false]);
    }
    expect(isAddressIn(['2001:db8::/32'], '2001:db8:1::1')).toBe(true);
    expect(isAddressIn(['0.0.0.0/0'], 'unknown')).toBe(false);
  });
});
