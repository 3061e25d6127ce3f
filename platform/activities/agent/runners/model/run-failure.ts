/** Thrown where a model's run is over and another try would end alike. The message is for the job's owner. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
}
