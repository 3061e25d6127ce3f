import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('keepHeapSmall', () => {
  it('sets the V8 options that this Node version has', async () => {
    const script = "import { keepHeapSmall } from './programs/process/heap-growth.ts'; keepHeapSmall();";
    const options = ['--import', './scripts/typescript.js', '--no-warnings', '--input-type=module', '-e', script];
    // V8 prints an error for an unknown flag and continues.
    expect(await run(process.execPath, options)).toEqual({ stdout: '', stderr: '' });
    const { stdout } = await run(process.execPath, ['--v8-options']);
    expect(stdout).toContain('--heap-growing-percent');
    expect(stdout).toContain('--max-semi-space-size');
  });
});
