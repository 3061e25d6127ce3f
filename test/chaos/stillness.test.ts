import { Stillness } from './stillness.ts';

it('is still after this many looks that see the same, and not if one sees a change', () => {
  const stillness = new Stillness(3);
  const seen = ['a', 'a', 'a', 'b', 'b', 'b', 'a', 'a', 'a', 'a'].map((text) => stillness.look(text));
  expect(seen.map(({ isStill }) => isStill)).toEqual([...Array.from({ length: 9 }, () => false), true]);
  expect(seen.map(({ isNew }) => isNew)).toEqual([true, false, false, true, false, false, true, false, false, false]);
});
