import { ExportFailure } from './export-failure.ts';
import type { ExportLimits } from './limits.ts';

/** What an export has spent so far, as stored in its crawl's row. Sizes in bytes. */
export type Spent = { fileCount: number; decodedBytes: number; storedBytes: number };

export type BudgetLimits = Pick<ExportLimits, 'maxFiles' | 'maxDecodedBytes' | 'maxStoredBytes'>;

/**
 * Throws a non-retryable failure if an export has spent more than it may; the message is for the job's owner. The
 * counts cover all workers, so any of them may check.
 */
export function checkBudget(spent: Spent, limits: BudgetLimits): void {
  if (spent.fileCount > limits.maxFiles) {
    throw exceeded('The site has more files than one export may hold', 'EXPORT_MAX_FILES', String(limits.maxFiles));
  }
  if (spent.decodedBytes > limits.maxDecodedBytes) {
    const text = "The site's responses are larger, uncompressed, than one export may read";
    throw exceeded(text, 'EXPORT_MAX_DECODED_BYTES', sizeText(limits.maxDecodedBytes));
  }
  if (spent.storedBytes > limits.maxStoredBytes) {
    throw exceeded('The export stores more than one export may', 'EXPORT_MAX_BYTES', sizeText(limits.maxStoredBytes));
  }
}

function exceeded(text: string, variable: string, value: string): ExportFailure {
  const message = `${text} (${variable}=${value}). Leave out what is large, or set a higher ${variable} for the platform's workers.`;
  return new ExportFailure('ExportImpossible', message);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size as the environment variables write it, in the largest unit that divides it. */
function sizeText(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount > 0 && amount % 1024 === 0 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount}${UNITS[unit]}`;
}
