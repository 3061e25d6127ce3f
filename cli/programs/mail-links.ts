import type { Logger } from 'pino';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../environment.ts';

export interface MailLinks {
  /** Where readers of mails reach the receiver; undefined: mails carry no link to unsubscribe. */
  publicUrl: string | undefined;
  /** Signs the links to unsubscribe. */
  unsubscribeKey: string;
}

/**
 * What the links to unsubscribe are made of. Says once at start what is missing: without API_PUBLIC_URL there are no
 * links, without UNSUBSCRIBE_SECRET the Admin API key signs them.
 */
export function mailLinksOf(
  { apiPublicUrl, unsubscribeSecret }: Pick<Settings, 'apiPublicUrl' | 'unsubscribeSecret'>,
  config: Pick<GalleyConfig, 'adminApi' | 'smtp' | 'sites'>,
  logger: Logger,
): MailLinks {
  const writesToReviewers =
    config.smtp !== undefined && Object.values(config.sites).some(({ agent }) => agent.length > 0);
  if (writesToReviewers && apiPublicUrl === undefined) {
    logger.info('API_PUBLIC_URL is not set: mails carry no link to unsubscribe');
  } else if (writesToReviewers && unsubscribeSecret === undefined) {
    logger.warn(
      'UNSUBSCRIBE_SECRET is not set: the Admin API key signs the links to unsubscribe, and they end when it changes',
    );
  }
  return { publicUrl: apiPublicUrl, unsubscribeKey: unsubscribeSecret ?? config.adminApi.key };
}
