// Loaded into a program before its own code: its clock differs from the machine's by the milliseconds in `${GALLEY_HOME}.clock`.
import { readFileSync, watchFile } from 'node:fs';

const file = `${process.env.GALLEY_HOME}.clock`;
const RealDate = Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
}
Object.defineProperty(ShiftedDate, 'name', { value: 'Date' });
globalThis.Date = ShiftedDate;

watchFile(file, { interval: 200, persistent: false }, ({ size }) => {
  shiftMs = size === 0 ? 0 : Number(readFileSync(file, 'utf8'));
});
