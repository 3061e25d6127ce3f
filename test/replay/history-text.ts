/** A history as it is kept: one line, and the stacks of its failures name no folder of the machine that recorded it. */
export function historyText(history: unknown): string {
  return `${JSON.stringify(history).replaceAll(`${process.cwd()}/`, '')}\n`;
}
