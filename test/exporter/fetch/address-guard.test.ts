import { createAddressGuard, isPublicAddress, RefusedUrl } from '../../../exporter/fetch/address-guard.ts';
import fc from '../../helpers/fast-check.ts';

const guard = createAddressGuard({ operatorHosts: ['127.0.0.1:8080', '[::1]:8081', 'Docs.Corp.example:443'] });

describe('isPublicAddress', () => {
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1'],
    ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1'],
    ...['2001:db8::1', '2002:7f00:1::', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
    ...['localhost', ''],
  ])('rejects %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

/** Spellings of private addresses in a URL. */
const PRIVATE_HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0x7f.0.0.0x1', '0177.0.0.1'],
  ...['017700000001', '127.9.8.7', '0', '0.0.0.0', '127.0.0.1.', '１２７.０.０.１', '127。0。0。1', '①27.0.0.1'],
  ...['%31%32%37.0.0.1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ...['[0:0:0:0:0:ffff:a00:1]', '[::127.0.0.1]', '[::ffff:0:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
  ...['[fe80::1]', '10.0.0.1', '169.254.169.254'],
];

describe('the address guard', () => {
  it.each(PRIVATE_HOSTS)('rejects %s', (host) => {
    expect(() => guard.checkUrl(new URL(`http://${host}/latest/meta-data/`))).toThrow(RefusedUrl);
  });

  it.each([
    ['file:///etc/passwd', /only http/],
    ['ftp://example.com/', /only http/],
    ['http://user:secret@example.com/', /user name/],
    ['http://example.com:22/', /port 22/],
    ['http://example.com:25/', /port 25/],
  ])('rejects %s', (address, reason) => {
    expect(() => guard.checkUrl(new URL(address))).toThrow(reason);
  });

  it('rejects every numeric spelling of a loopback address', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0x7f000000, max: 0x7fffffff }), fc.constantFrom(8, 10, 16), (number, base) => {
        const prefix = base === 16 ? '0x' : base === 8 ? '0' : '';
        const url = new URL(`http://${prefix}${number.toString(base)}/`);
        expect(() => guard.checkUrl(url)).toThrow(RefusedUrl);
      }),
    );
  });

  it('accepts the host and port that the operator named, but no other port', () => {
    expect(() => guard.checkUrl(new URL('http://127.0.0.1:8080/a'))).not.toThrow();
    expect(() => guard.checkUrl(new URL('http://2130706433:8080/a'))).not.toThrow();
    expect(() => guard.checkUrl(new URL('http://[::1]:8081/'))).not.toThrow();
    expect(() => guard.checkUrl(new URL('http://127.0.0.1:8082/'))).toThrow(RefusedUrl);
    expect(() => guard.checkUrl(new URL('http://127.0.0.2:8080/'))).toThrow(RefusedUrl);
  });

  it('rejects a name that resolves to a private address, even if only one of its addresses is private', async () => {
    const answers = new Map([
      ['inside.example', ['10.0.0.5']],
      ['mixed.example', ['93.184.216.34', '127.0.0.1']],
      ['mapped.example', ['::ffff:10.0.0.5']],
    ]);
    const resolving = createAddressGuard({
      operatorHosts: [],
      resolve: async (hostname) => answers.get(hostname) ?? [],
    });
    await expect(resolving.addressesFor('inside.example', 443)).rejects.toThrow(
      'refused: inside.example is not at a public address',
    );
    await expect(resolving.addressesFor('mixed.example', 443)).rejects.toThrow(
      'refused: mixed.example is not at a public address',
    );
    await expect(resolving.addressesFor('mapped.example', 443)).rejects.toThrow(RefusedUrl);
    await expect(resolving.addressesFor('nowhere.example', 443)).rejects.toThrow(/no address/);
    await expect(resolving.addressesFor('localhost', 80)).rejects.toThrow(RefusedUrl);
  });

  it("accepts the operator's own name even if it resolves to a private address", async () => {
    const resolving = createAddressGuard({
      operatorHosts: ['docs.corp.example:443'],
      resolve: async () => ['10.0.0.5'],
    });
    expect(await resolving.addressesFor('docs.corp.example', 443)).toEqual(['10.0.0.5']);
    await expect(resolving.addressesFor('docs.corp.example', 80)).rejects.toThrow(RefusedUrl);
  });

  it('looks a name up once, so that a changed DNS record has no effect', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const resolving = createAddressGuard({ operatorHosts: [], resolve: async () => answers.shift() ?? [] });
    expect(await resolving.addressesFor('rebinding.example', 80)).toEqual(['93.184.216.34']);
    expect(await resolving.addressesFor('rebinding.example', 80)).toEqual(['93.184.216.34']);
  });

  it('repeats a failed look-up', async () => {
    let attempts = 0;
    const resolving = createAddressGuard({
      operatorHosts: [],
      resolve: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('EAI_AGAIN');
        return ['93.184.216.34'];
      },
    });
    await expect(resolving.addressesFor('flaky.example', 80)).rejects.toThrow('EAI_AGAIN');
    expect(await resolving.addressesFor('flaky.example', 80)).toEqual(['93.184.216.34']);
  });
});
