import { domainName } from '../../contract/admin-api.ts';

test.each([
  ['docs.example.com', 'docs.example.com'],
  [' Docs.Example.COM ', 'docs.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['straße.example', 'xn--strae-oqa.example'],
])('the domain %s is %s in the DNS', (text, name) => {
  expect(domainName.parse(text)).toBe(name);
});

test.each(['bücher.example/x', 'bücher.example:80', 'http://bücher.example', 'ü ü.example', '', 'a..b', '-a.example'])(
  '%j is no domain',
  (text) => {
    expect(domainName.safeParse(text).success).toBe(false);
  },
);
