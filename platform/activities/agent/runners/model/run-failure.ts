/** Thrown if a model's run has failed and a retry would fail too. The message is for the job's owner. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
}
