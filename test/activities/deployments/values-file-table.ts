/**
 * Values files as operators write them. `⟦before⇒after⟧` marks what an edit may change; each other byte stays. `LINK` is
 * the link that is written.
 */
export type Edited = { name: string; marked: string };

/** Files that nobody can edit safely, with the error's text; it names line and column. */
export type Rejected = { name: string; text: string | Buffer; error: string };

export const LINK = 'https://objects.example.com/a/bundle.tar.gz?sig=a%2Bb&expires=17';

/** Lines joined by Windows line ends. */
const windows = (...lines: string[]): string => lines.join('\r\n');
const lines = (...all: string[]): string => all.join('\n');

const ON = '⟦false⇒true⟧';
const PLAIN = '⟦https://old.example.com/b⇒LINK⟧';
/** Both keys at the end of a file without the group. */
const APPENDED = '⟦⇒staticExport:\n  enabled: true\n  bundleUrl: "LINK"\n⟧';

export const EDITED: Edited[] = [
  {
    name: "a chart's file with comments everywhere",
    marked: lines(
      '# Default values for docs.',
      '# -- how many pods',
      'replicaCount: 2   # at least 2',
      '',
      'image:',
      '    repository: registry.example.com/docs   ',
      "    tag: ''",
      '',
      '# Static export; see the manual',
      'staticExport:',
      '    # -- serve it',
      `    enabled: ${ON}      # switched on by the first deploy`,
      '',
      '    # -- the link (expires!)',
      `    bundleUrl: ${PLAIN} # do not edit`,
      '    # -- pin',
      '    version: ""',
      '# the end',
      '',
    ),
  },
  {
    name: 'double quotes',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: "⟦https://old.example.com/b⇒LINK⟧"\n`,
  },
  {
    name: 'single quotes with an escaped one',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: '⟦https://old.example.com/it''s⇒LINK⟧'  # '\n`,
  },
  {
    name: 'quoted keys',
    marked: `"staticExport":\n  'enabled': ${ON}\n  "bundleUrl": ${PLAIN}\n`,
  },
  {
    name: 'the keys in another order, the pin first',
    marked: `staticExport:\n  version: 1.10\n  bundleUrl: ${PLAIN}\n  enabled: ${ON}\nafter: 1\n`,
  },
  {
    name: 'already on: only the link changes',
    marked: `staticExport:\n  enabled: true   # yes\n  bundleUrl: ${PLAIN}\n`,
  },
  {
    name: 'values of other types',
    marked: 'staticExport:\n  enabled: ⟦"false"⇒true⟧\n  bundleUrl: ⟦12⇒"LINK"⟧\n',
  },
  {
    name: 'nothing behind the keys',
    marked: 'staticExport:\n  enabled:⟦⇒ true⟧ # later\n  bundleUrl:⟦⇒ "LINK"⟧\nafter: 1\n',
  },
  {
    name: 'nulls',
    marked: 'staticExport:\n  enabled: ⟦~⇒true⟧\n  bundleUrl: ⟦null⇒"LINK"⟧\n',
  },
  {
    name: 'Windows line ends',
    marked: windows('# für Windows', 'staticExport:', `  enabled: ${ON}  # aus`, `  bundleUrl: ${PLAIN}`, 'a: 1', ''),
  },
  {
    name: 'Windows line ends without the link',
    marked: windows('staticExport:', `  enabled: ${ON} # aus⟦⇒\r\n  bundleUrl: "LINK"⟧`, '', 'a: 1', ''),
  },
  {
    name: 'Windows line ends in some lines only',
    marked: `a: 1\r\nstaticExport:\n  enabled: ${ON}\r\n  bundleUrl: ${PLAIN}\nb: 2\r\n`,
  },
  {
    name: 'tabs in block texts and between values and comments',
    marked: lines(
      'makefile: |',
      '  all:',
      '  \techo one\t# two',
      '  \t\tenabled: false',
      'staticExport:',
      `  enabled: ${ON}\t# off\t`,
      `  bundleUrl:\t${PLAIN}\t`,
      '',
    ),
  },
  {
    name: 'no group',
    marked: `image:\n  tag: "1.2"\ningress:\n  enabled: false\n${APPENDED}`,
  },
  {
    name: 'no group and no line break at the end',
    marked: `image:\n  tag: "1.2"⟦⇒\n⟧${APPENDED}`,
  },
  {
    name: 'no group, and a comment at the end',
    marked: `image: v1\n\n# staticExport:\n#   enabled: false\n${APPENDED}`,
  },
  {
    name: 'no group, and a document end',
    marked: '%YAML 1.2\n---\n⟦⇒staticExport:\n  enabled: true\n  bundleUrl: "LINK"\n⟧image: v1\n...\n',
  },
  {
    name: 'a group of comments only',
    marked:
      'staticExport:⟦⇒\n  enabled: true\n  bundleUrl: "LINK"⟧\n  # enabled: false\n  # bundleUrl: none\nafter: 1\n',
  },
  {
    name: 'flow style',
    marked: `image: {tag: v1, pull: [a, b]}\nstaticExport: { version: "1", enabled: ${ON}, bundleUrl: '⟦x⇒LINK⟧' } # one line\n`,
  },
  {
    name: 'flow style over several lines',
    marked: `staticExport: {\n    enabled: ${ON},   # why\n    bundleUrl: "⟦x⇒LINK⟧",\n  }\nafter: 1\n`,
  },
  {
    name: 'JSON',
    marked: `{\n\t"image": "v1",\n\t"staticExport": {\n\t\t"enabled": ${ON},\n\t\t"bundleUrl": "⟦x⇒LINK⟧"\n\t}\n}`,
  },
  {
    name: '10,000 lines',
    marked: [
      ...Array.from({ length: 3_000 }, (_, line) => `key${line}:\n  enabled: false # ${line}\n`),
      `staticExport:\n  enabled: ${ON}\n  bundleUrl: ${PLAIN}\n`,
      ...Array.from({ length: 4_000 }, (_, line) => `later${line}: 'it''s ${line}'\n`),
    ].join(''),
  },
  {
    name: 'a byte order mark',
    marked: `\ufeffstaticExport:\r\n  enabled: ${ON}\r\n  bundleUrl: ${PLAIN}\r\n`,
  },
  {
    name: 'no line break at the end',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: ${PLAIN}`,
  },
  {
    name: 'a last line without a link and a line break',
    marked: `staticExport:\n  version: "1"\n  enabled: ${ON}⟦⇒\n  bundleUrl: "LINK"⟧`,
  },
  {
    name: 'the same keys in other groups',
    marked: lines(
      'enabled: false',
      'bundleUrl: https://old.example.com/b',
      'ingress:',
      '  enabled: false',
      'global:',
      '  staticExport:',
      '    enabled: false',
      '    bundleUrl: https://old.example.com/b',
      'staticExport:',
      '  auth:',
      '    enabled: false',
      '    bundleUrl: https://old.example.com/b',
      `  enabled: ${ON}`,
      `  bundleUrl: ${PLAIN}`,
      'staticExports:',
      '  enabled: false',
      '',
    ),
  },
  {
    name: 'the group as text in a block text and in a comment',
    marked: lines(
      'readme: |',
      '  staticExport:',
      '    enabled: false',
      '# staticExport:',
      '#   enabled: false',
      'staticExport:',
      `  enabled: ${ON}`,
      `  bundleUrl: ${PLAIN}`,
      '',
    ),
  },
  {
    name: 'deep indentation',
    marked: `staticExport:\n            enabled: ${ON}⟦⇒\n            bundleUrl: "LINK"⟧\n            extra:\n                        - a\n`,
  },
  {
    name: 'an indented root',
    marked: `  a: 1\n  staticExport:\n   enabled: ${ON}\n   bundleUrl: ${PLAIN}\n`,
  },
  {
    name: 'an anchored group and an anchored value',
    marked: `staticExport: &export # used below\n  enabled: &on ${ON}\n  bundleUrl: ${PLAIN}\nmirror: *export\n`,
  },
  {
    name: 'aliases as values',
    marked:
      'defaults:\n  off: &off false\n  link: &link x\nstaticExport:\n  enabled: ⟦*off⇒true⟧\n  bundleUrl: ⟦*link⇒"LINK"⟧\nother: *off\n',
  },
  {
    name: 'several hundred aliases',
    marked: [
      'resources: &small {cpu: 100m}\n',
      ...Array.from({ length: 300 }, (_, index) => `part${index}: *small\n`),
      `staticExport:\n  enabled: ${ON}\n  bundleUrl: ${PLAIN}\n`,
    ].join(''),
  },
  {
    name: 'merge keys',
    marked: `base: &base\n  cacheSeconds: 60\nstaticExport:\n  <<: *base\n  enabled: ${ON}\n  bundleUrl: ${PLAIN}\n`,
  },
  {
    name: "other programs' tags",
    marked: `token: !vault |\n  6162\nrole: !Ref Role\nstaticExport:\n  enabled: !!bool ${ON}\n  bundleUrl: !!str ${PLAIN}\n`,
  },
  {
    name: 'a folded link with blank lines after it',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: ⟦>-\n    https://old.example.com/\n    b⇒"LINK"⟧\n\n# next\nafter: 1\n`,
  },
  {
    name: 'a literal link at the end of the file',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: ⟦|-\n    https://old.example.com/b⇒"LINK"⟧`,
  },
  {
    name: 'links over two lines, quoted',
    marked: `staticExport:\n  enabled: ${ON}\n  bundleUrl: "⟦https://old.example.com/\\\n    b⇒LINK⟧" # folded\n`,
  },
  {
    name: 'explicit keys',
    marked: `? staticExport\n: ? enabled\n  : ${ON}\n  ? bundleUrl\n  : ${PLAIN}\n`,
  },
  {
    name: 'letters of many languages, and lists without indentation',
    marked: `título: "Документация 🧭 \\u00e9"\nlist:\n- é\n- 日本\nstaticExport:\n  enabled: ${ON} # 🧭\n  bundleUrl: ${PLAIN}\n`,
  },
];

export const REJECTED: Rejected[] = [
  {
    name: 'two documents',
    text: 'a: 1\n---\nb: 2\n',
    error: 'expected one YAML document, but a second one begins at line 2',
  },
  { name: 'an open bracket', text: 'a: 1\nb: [1\nc: 2\n', error: 'not valid YAML: ' },
  { name: 'an open quote', text: 'staticExport:\n  bundleUrl: "x\n', error: 'not valid YAML: ' },
  {
    name: 'tabs as indentation',
    text: 'staticExport:\n\tenabled: false\n',
    error: 'not valid YAML: Tabs are not allowed as indentation at line 2, column 1',
  },
  {
    name: 'a wrong indentation behind a byte order mark',
    text: '\ufeffa: 1\n   b: 2\n',
    error: 'not valid YAML: Nested mappings are not allowed in compact mappings at line 1, column 4',
  },
  {
    name: 'a key twice',
    text: 'staticExport:\n  enabled: false\nimage: v1\nstaticExport:\n  enabled: true\n',
    error: 'not valid YAML: the key staticExport is there twice at line 4, column 1',
  },
  {
    name: 'an alias without an anchor',
    text: 'image: v1\ntag: *missing\n',
    error: 'not valid YAML: the alias *missing at line 2, column 6 has no anchor before it',
  },
  {
    name: 'a list',
    text: '# all\n- a\n',
    error: 'expected keys and values at the top of the file, not what is at line 2, column 1',
  },
  {
    name: 'a text as the group',
    text: 'a: 1\r\nstaticExport: yes please\r\n',
    error: 'expected staticExport to be a group with the keys enabled and bundleUrl at line 2, column 15',
  },
  {
    name: 'an alias as the group',
    text: 'base: &base {enabled: false}\nstaticExport: *base\n',
    error: 'expected staticExport to be a group with the keys enabled and bundleUrl at line 2, column 15',
  },
  {
    name: 'a list as the link',
    text: 'a: 1\nstaticExport:\n  bundleUrl: [a]\n',
    error: "staticExport can't be edited in place at line 2, column 1: write it as a plain group",
  },
  {
    name: 'Latin 1',
    text: Buffer.from('a: 1\nb: für\nstaticExport:\n  enabled: false\n', 'latin1'),
    error: 'expected UTF-8, not the byte at line 2, column 5',
  },
  {
    name: 'UTF-16',
    text: Buffer.from('\ufeffstaticExport:\n  enabled: false\n', 'utf16le'),
    error: 'expected UTF-8, not the byte at line 1, column 1',
  },
];
