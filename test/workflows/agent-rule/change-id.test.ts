import { changeKeysOf } from '../../../workflows/agent-rule/change-id.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';

const DAY_MS = 86_400_000;
const receivedAt = '2026-11-21T08:00:00.000Z';

describe('the id of a change', () => {
  it("is the delivery's own id", () => {
    const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
    expect(changeKeysOf({ id, receivedAt, dedupeMs: DAY_MS }, false)).toEqual([id]);
  });

  it('includes the time if the id was seen before, or another publish may have it too', () => {
    expect(changeKeysOf({ id: 'a', receivedAt, dedupeMs: DAY_MS }, true)).toEqual([`a~${receivedAt}`]);
    expect(changeKeysOf({ id: 'a', receivedAt, dedupeMs: 60_000 }, false)).toEqual(['a', `a~${receivedAt}`]);
  });

  it('is short, safe and unique for any id', () => {
    const ids = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 300 }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(ids, (list) => {
        const names = list.map((id) => changeKeysOf({ id, receivedAt, dedupeMs: DAY_MS }, false)[0] ?? '');
        expect(new Set(names).size).toBe(list.length);
        for (const name of names) expect(name).toMatch(/^[\w.:=+-]{1,100}$/);
      }),
    );
  });
});
