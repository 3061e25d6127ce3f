/** Counts the characters that `indexOf`, `includes` and regular expressions scan while `work` runs. */
export function scannedCharacters(work: () => void): number {
  const { indexOf, includes } = String.prototype;
  const { exec } = RegExp.prototype;
  let count = 0;
  const add = (from: number, to: number): void => {
    count += Math.max(0, to - from);
  };
  String.prototype.indexOf = function (this: string, sought: string, from = 0): number {
    const found = indexOf.call(this, sought, from);
    add(from, found === -1 ? this.length : found);
    return found;
  };
  String.prototype.includes = function (this: string, sought: string, from = 0): boolean {
    const found = indexOf.call(this, sought, from);
    add(from, found === -1 ? this.length : found);
    return found !== -1;
  };
  RegExp.prototype.exec = function (this: RegExp, text: string): RegExpExecArray | null {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    if (match !== null) add(from, match.index + match[0].length);
    else if (!this.sticky) add(from, text.length);
    return match;
  };
  try {
    work();
  } finally {
    Object.assign(String.prototype, { indexOf, includes });
    Object.assign(RegExp.prototype, { exec });
  }
  return count;
}
