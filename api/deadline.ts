/** Rejects after `deadlineMs`, even if the call goes on: the SDK's own retries may outlast its deadline. */
export async function withinDeadline<T>(deadlineMs: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${deadlineMs} ms`)), deadlineMs);
  });
  return await Promise.race([call, late]).finally(() => clearTimeout(timer));
}
