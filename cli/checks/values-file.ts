import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nearestFolder } from '../../activities/deployments/check-folder.ts';
import { errorCode, errorText } from '../../base/error-code.ts';
import { readValuesFile } from '../../deployment/values/values.ts';
import { type Finding, fail, ok } from './finding.ts';

/** Whether Galley can write a values file, which it replaces atomically, so that its folder must be writable too. */
export async function checkValuesFile(check: string, file: string): Promise<Finding> {
  try {
    const wanted = await readValuesFile(file, { emptyIsOff: true });
    if (wanted !== undefined) {
      await access(file, constants.W_OK);
      await access(dirname(file), constants.W_OK | constants.X_OK);
      return ok(check, `${file} can be written`);
    }
    await access(await nearestFolder(dirname(file)), constants.W_OK | constants.X_OK);
    return ok(check, `${file} can be created by the first deploy`);
  } catch (error) {
    const code = errorCode(error);
    const reason = code === undefined ? errorText(error) : `${file} can't be written (${code})`;
    return fail(check, reason, 'Correct the file or its permissions, or choose another valuesFile.');
  }
}
