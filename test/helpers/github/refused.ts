/** Thrown by the routes if GitHub would reject the request. */
export class Refused extends Error {
  readonly status: number;
  readonly errors: readonly object[] | undefined;

  constructor(status: number, message: string, errors?: readonly object[]) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}
