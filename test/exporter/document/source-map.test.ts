import { resourcesOf, rewritten } from './engine.ts';

const script = (text: string) => ({ text, type: 'text/javascript', url: '/assets/app.js' });
const sheet = (text: string) => ({ text, type: 'text/css', url: '/assets/app.css' });

describe('the source map comment', () => {
  it.each([
    ['of a script', script('a();\n//# sourceMappingURL=app.js.map\n'), 'a();\n\n'],
    ['of a script on one line', script('a()//# sourceMappingURL=app.js.map'), 'a()'],
    ['of an old script', script('a();\n//@ sourceMappingURL=/maps/app.js.map?v=1'), 'a();\n'],
    ['of a stylesheet', sheet('a{b:c}\n/*# sourceMappingURL=app.css.map */\n'), 'a{b:c}\n\n'],
    ['with the map in it', script('a();\n//# sourceMappingURL=data:application/json;base64,e30=\n'), 'a();\n\n'],
    [
      'before other comments',
      script('a();\n//# sourceMappingURL=a.map\n//# debugId=1\n/* b */'),
      'a();\n\n//# debugId=1\n/* b */',
    ],
    [
      'of a script in a page',
      { text: '<script>a()\n//# sourceMappingURL=a.map\n</script>' },
      '<script>a()\n\n</script>',
    ],
  ])('%s is removed', (_, sample, expected) => {
    expect(rewritten(sample)).toBe(expected);
  });

  it.each([
    ['in a string', 'var a = "//# sourceMappingURL=a.map";'],
    ['in a template', 'var a = `\n//# sourceMappingURL=a.map`;'],
    ['before more code', '//# sourceMappingURL=a.map\nb();'],
    ['without an address', 'a(); //# sourceMappingURL='],
    ['of a style inside a script', 'var css = "a{}/*# sourceMappingURL=a.map */";'],
    ['never closed', 'a(); /*# sourceMappingURL=a.map'],
  ])('is not recognized %s', (_, text) => {
    expect(rewritten(script(text))).toBe(text);
    expect(resourcesOf(script(text), 'source-map')).toEqual([]);
  });

  it('names a file that is fetched and rewritten if maps are kept', () => {
    const policy = { sourceMaps: 'keep' } as const;
    const text = 'a();\n//# sourceMappingURL=/maps/app.js.map\n';
    expect(resourcesOf(script(text))).toEqual(['source-map /maps/app.js.map']);
    expect(rewritten({ ...script(text), policy })).toBe('a();\n//# sourceMappingURL=../maps/app.js.map\n');
    const inline = 'a();\n//# sourceMappingURL=data:application/json;base64,e30=';
    expect(rewritten({ ...script(inline), policy })).toBe(inline);
  });
});
