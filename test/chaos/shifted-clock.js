// Loaded into a program before its own code: its clock differs from the machine's by the milliseconds in a file of the folder
// CLOCKS, named like the last part of GALLEY_HOME.
import { readFileSync, watchFile } from 'node:fs';
import { basename, join } from 'node:path';

const file = join(process.env.CLOCKS ?? '', basename(process.env.GALLEY_HOME ?? ''));
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
