/** Reports progress of a long step to a person, one sentence per call. */
export type Report = (line: string) => void;

/** Writes to standard error, so that a command's own output stays clean. */
export const reportToStderr: Report = (line) => {
  process.stderr.write(`${line}\n`);
};
