import type { Proof } from '../contract/proof.ts';
import type { ProverTask } from '../exporter/ports.ts';

/** Chromium or Chrome of a process (`CHROMIUM_…`). */
export type BrowserSettings = { path: string | undefined; sandbox: boolean; searchPath: string };

/** The work of the process that compares a bundle with its origin. */
export type ProofWork = {
  job: ProverTask & { browser: BrowserSettings };
  result: { proof: Proof; html: string };
  notice: { doneCount: number; pageCount: number };
};
