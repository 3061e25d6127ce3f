/** Sends a plain-text mail. Rejects if the mail server did not take it. */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<void>;
