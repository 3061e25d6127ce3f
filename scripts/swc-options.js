/** How TypeScript is compiled where it isn't built: in the tests, and when a program starts from its source. */
export const SWC_OPTIONS = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
