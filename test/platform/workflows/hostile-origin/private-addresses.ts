/** Every spelling of an address of this machine, or of a network it stands in, that a URL may have. */
export function privateSpellings(port: number): string[] {
  const hosts = [
    ...[
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '127.9.8.7',
    ],
    ...['0', '0.0.0.0', '127.0.0.1.', '１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1'],
    ...[
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[::ffff:0:7f00:1]',
    ],
    ...[
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2001::1]',
      '[fe80::1]',
      '[fc00::1]',
      '[fd12::1]',
    ],
    ...['[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]'],
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
    // By name: whatever the system's resolver says.
    ...['localhost', 'LOCALHOST', 'localhost.'],
  ];
  return [...hosts.map((host) => `http://${host}:${port}/secret.png`), `http://127.0.0.1:22/secret.png`];
}
