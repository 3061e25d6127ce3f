import type { Logger } from 'pino';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../settings/environment.ts';

export interface MailLinks {
  /** The receiver's public URL; undefined: mails have no unsubscribe link. */
  publicUrl: string | undefined;
  /** Signs unsubscribe links. */
  unsubscribeKey: string;
}

/**
 * Settings of unsubscribe links. Logs once at start what is missing: without API_PUBLIC_URL there are no links, without
 * UNSUBSCRIBE_SECRET the Admin API key signs them.
 */
export function mailLinksOf(
  { apiPublicUrl, unsubscribeSecret }: Pick<Settings, 'apiPublicUrl' | 'unsubscribeSecret'>,
  config: Pick<GalleyConfig, 'adminApi' | 'smtp' | 'sites'>,
  logger: Logger,
): MailLinks {
  const writesToReviewers =
    config.smtp !== undefined && Object.values(config.sites).some(({ agent }) => agent.length > 0);
  if (writesToReviewers && apiPublicUrl === undefined) {
    logger.info('API_PUBLIC_URL is not set: mails have no unsubscribe link');
  } else if (writesToReviewers && unsubscribeSecret === undefined) {
    logger.warn(
      'UNSUBSCRIBE_SECRET is not set: the Admin API key signs unsubscribe links, which become invalid when it changes',
    );
  }
  return { publicUrl: apiPublicUrl, unsubscribeKey: unsubscribeSecret ?? config.adminApi.key };
}
