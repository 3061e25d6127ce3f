import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ValuesReadError } from '../../../deployment/errors.ts';
import { parseValues, readValuesFile, readWrittenKeys } from '../../../deployment/values/values.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const folder = temporaryFolder();

function parse(text: string): unknown {
  const wanted = parseValues(text, 'values.yaml');
  return wanted.enabled ? { link: wanted.link.href, version: wanted.version } : 'off';
}

describe('a values file', () => {
  it('names the bundle to serve; other keys are ignored', () => {
    const text =
      'image: {tag: 1}\nstaticExport:\n  enabled: true # on\n  bundleUrl: https://s3.example/b?X-Amz=1\n  replicas: 3\n';
    expect(parse(text)).toEqual({ link: 'https://s3.example/b?X-Amz=1', version: undefined });
  });

  it('of more than 1 MiB is not parsed, and not even read from the disk', async () => {
    const refusal = 'expected a values file of at most 1 MiB';
    expect(() => parse(`# ${'é'.repeat(512 * 1024)}`)).toThrow(refusal);
    const file = join(folder, 'values.yaml');
    await writeFile(file, '');
    await truncate(file, 3 * 1024 ** 3);
    await expect(readValuesFile(file, { emptyIsOff: false })).rejects.toThrow(refusal);
  });

  it.each([
    ['1.10', '1.10'],
    ['"2026-11-21.3"', '2026-11-21.3'],
    ['2026-11-21', '2026-11-21'],
    ['0o17', '0o17'],
    ['1e3', '1e3'],
  ])('pins the version exactly as written: %s', (written, version) => {
    expect(parse(`staticExport: {enabled: true, bundleUrl: "https://x.example/", version: ${written}}`)).toMatchObject({
      version,
    });
  });

  it.each([
    '',
    '# nothing',
    '---\n# nothing\n',
    'other: 1',
    'staticExport:',
    'staticExport: {}',
    'staticExport: {enabled: false}',
  ])('without enabled: true means off: %j', (text) => {
    expect(parse(text)).toBe('off');
  });

  it.each(['""', 'null'])('may leave bundleUrl and version blank while disabled: %s', (blank) => {
    expect(parse(`staticExport: {enabled: false, bundleUrl: ${blank}, version: ${blank}}`)).toBe('off');
  });

  it('with a blank version pins nothing', () => {
    expect(parse('staticExport: {enabled: true, bundleUrl: "file:///srv/b.tar.gz", version: ""}')).toEqual({
      link: 'file:///srv/b.tar.gz',
      version: undefined,
    });
  });

  it('may share its values by anchors', () => {
    const shared = 'on: &on true\nlink: &link https://x.example/\nimage: {tag: &tag 1.10}\nkey: &key ""\n';
    const text = `${shared}staticExport: {enabled: *on, bundleUrl: *link, version: *tag, publicKey: *key}`;
    expect(parse(text)).toEqual({ link: 'https://x.example/', version: '1.10' });
    expect(readWrittenKeys(text, 'values.yaml')).toMatchObject({ publicKey: undefined, integrity: false });
    expect(() => parse('staticExport: {enabled: *on}')).toThrow('staticExport.enabled: expected an anchor &on before');
  });

  it('is read as Helm reads it: values merged from an anchor count, and of repeated keys elsewhere the last', () => {
    const base = 'base: &base {enabled: off, bundleUrl: "https://x.example/", version: 1.10}\n';
    expect(parse(`${base}staticExport:\n  <<: *base\n`)).toBe('off');
    expect(parse(`${base}staticExport: *base\n`)).toBe('off');
    expect(parse(`${base}staticExport:\n  enabled: true\n  <<: *base\n`)).toEqual({
      link: 'https://x.example/',
      version: '1.10',
    });
    expect(parse(`a: 1\na: 2\nb: {<<: {c: 1}, <<: {d: 1}}\n${base}staticExport: {<<: *base}`)).toBe('off');
  });

  it.each([
    ['staticExport: {enabled: "yes"}', 'staticExport.enabled', 'true or false'],
    ['staticExport: {enabled: true}', 'staticExport.bundleUrl', 'expected a link'],
    ['staticExport: {enabled: true, bundleUrl: "ftp://x.example/"}', 'staticExport.bundleUrl', 'http, https or file'],
    ['staticExport: {enabled: true, bundleUrl: bundle.tar.gz}', 'staticExport.bundleUrl', 'http, https or file'],
    ['staticExport: {enabled: true, bundleUrl: 7}', 'staticExport.bundleUrl', 'http, https or file'],
    ['staticExport: {enabled: true, bundleUrl: "file://host/b"}', 'staticExport.bundleUrl', 'file:///'],
    ['staticExport: {enabled: true, bundleUrl: "https://x.example/", version: [1]}', 'staticExport.version', 'text'],
    [
      `staticExport: {enabled: true, bundleUrl: "https://x.example/", integrity: sha256-${'A'.repeat(43)}}`,
      'staticExport.integrity',
      'sha256- and the base64 SHA-256 of a manifest',
    ],
    [
      'staticExport: {enabled: true, bundleUrl: "https://x.example/", publicKey: abc}',
      'staticExport.publicKey',
      'ed25519 public key',
    ],
    ['staticExport: on', 'staticExport', 'enabled, bundleUrl and version'],
    ['- a', null, 'expected keys'],
    ['staticExport: {enabled: true', null, 'expected YAML'],
    ['deployment: {kind: hosted}', 'deployment.kind', 'cloud, client-hosted, air-gapped'],
    ['deployment: [1]', 'deployment', 'kind, features and headers'],
    [
      'deployment: {kind: air-gapped, features: {search: true}}',
      'deployment.features.search',
      'only in cloud, client-hosted',
    ],
    ['deployment: {features: {magic: true}}', 'deployment.features', 'Unrecognized key: "magic"'],
    ['deployment: {headers: {"/**": {ETag: x}}}', 'deployment.headers./**.ETag', 'sets this one itself'],
    ['deployment: {headers: {"/**": {X-A: "a\\r\\nSet-Cookie: b"}}}', 'deployment.headers./**.X-A', 'printable'],
    ['deployment: {headers: {guides: {}}}', 'deployment.headers.guides', 'pattern such as'],
    ['deployment: {headers: {"/*.{js,css}": {}}}', 'deployment.headers./*.{js,css}', 'no other wildcards than'],
    [
      'deployment: {kind: air-gapped}\nstaticExport: {enabled: true, bundleUrl: "https://x.example/"}',
      'staticExport.bundleUrl',
      'no outside request',
    ],
    ['? '.repeat(5_000), null, 'nests too deep'],
    ['staticExport: {enabled: true}\nstaticExport: {enabled: false}', 'staticExport', 'the key staticExport once'],
    ['staticExport: {enabled: true, enabled: false}', 'staticExport', 'the key enabled once'],
  ])('is rejected with the key if it is invalid: %s', (text, key, expected) => {
    const error = (() => {
      try {
        return parse(text);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ValuesReadError);
    expect(error).toMatchObject({ key });
    expect(String(error)).toContain(expected);
    expect(String(error)).toContain(key ?? 'values.yaml');
  });
});
