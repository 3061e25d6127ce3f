/**
 * How TypeScript is compiled if it isn't built: in the tests, and when a program starts from its source.
 * @param {{ tsx: boolean }} file whether the file may hold JSX: a few of TypeScript's expressions are read differently then
 */
export function swcOptions({ tsx }) {
  const react = { runtime: 'automatic', importSource: 'preact' };
  return {
    swcrc: false,
    jsc: {
      parser: { syntax: 'typescript', tsx },
      transform: { react },
      target: 'es2022',
      keepClassNames: true,
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  };
}
