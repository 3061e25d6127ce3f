/**
 * swc's options for TypeScript that tsc hasn't built: in tests, and when a program runs from source.
 * @param {{ tsx: boolean }} file `tsx`: whether the file may contain JSX, which changes how some expressions parse
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
