import { errorCode } from '../../base/error-code.ts';

const MAX_CAUSES = 5;

/** The error and its causes, also from another realm, whose errors `instanceof` would miss. */
function causesOf(error: unknown): object[] {
  const causes: object[] = [];
  let current = error;
  while (typeof current === 'object' && current !== null && causes.length < MAX_CAUSES) {
    causes.push(current);
    current = 'cause' in current ? current.cause : undefined;
  }
  return causes;
}

/** The `code` of a Node or undici error, or of one of its causes; undefined if there is none. */
export function fetchErrorCode(error: unknown): string | undefined {
  return causesOf(error)
    .map(errorCode)
    .find((code) => code !== undefined);
}

/** The first non-empty message; a connection error often has its message on a cause. */
export function errorMessage(error: unknown): string {
  const messages = causesOf(error).map((each): unknown => Reflect.get(each, 'message'));
  const message = messages.find((each): each is string => typeof each === 'string' && each !== '');
  return message ?? fetchErrorCode(error) ?? String(error);
}

/** True if the error, or one of its causes, is of that class. */
export function isCausedBy(error: unknown, errorClass: new (...args: never[]) => Error): boolean {
  return causesOf(error).some((each) => each instanceof errorClass);
}
