import { execa } from 'execa';
import type { z } from 'zod';

export type LoadProgram = 'http-load' | 'raw-load' | 'storm-load';

/** Runs a program of bench/load in a separate process and returns its parsed output. */
export async function runLoad<T>(program: LoadProgram, options: object, result: z.ZodType<T>): Promise<T> {
  const file = `bench/load/${program}.ts`;
  const { stdout } = await execa(process.execPath, [...typescript(file), JSON.stringify(options)], {
    stderr: 'inherit',
  });
  return result.parse(JSON.parse(stdout));
}

/** The arguments with which plain Node runs a TypeScript file, from the checkout's root. */
export function typescript(file: string): string[] {
  return ['--import', './scripts/typescript.js', file];
}
