import { createHmac } from 'node:crypto';
import type { Express, Request } from 'express';
import Mustache from 'mustache';
import type { Logger } from 'pino';
import { equalInConstantTime } from '../base/equal-in-constant-time.ts';
import { HttpError } from '../web/http-error.ts';
import { onlyMethods } from './http-edge.ts';
import type { RenamedSites } from './renamed-sites.ts';
import type { TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';

type Subscription = { site: string; rule: string; address: string };

const PATH = '/unsubscribe/:site/:rule/:address/:token';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<h1>{{title}}</h1>
<p>{{text}}</p>
{{#ask}}<form method="post"><button>Send me no more of these mails</button></form>{{/ask}}
`;

type UnsubscribeDeps = {
  /** A link is valid if one of these signed it. */
  keys: readonly string[];
  gateway: Pick<TemporalGateway, 'unsubscribe'>;
  renamed: Pick<RenamedSites, 'find'>;
  logger: Logger;
};

/**
 * The links in mail to reviewers. A GET only asks, because mail scanners open links too; the button and a mail program's
 * one click (RFC 8058) are a POST. The token in the link is the only credential.
 */
export function addUnsubscribeRoutes(app: Express, { keys, gateway, renamed, logger }: UnsubscribeDeps): void {
  app
    .route(PATH)
    .get((request, response) => {
      const { site, rule, address } = readLink(request, keys);
      const text = `${address} gets mail about the pull requests of the rule ${rule} of ${site}.`;
      response.type('html').send(Mustache.render(PAGE, { title: 'Unsubscribe', text, ask: true }));
    })
    .post(async (request, response) => {
      const { site, rule, address } = readLink(request, keys);
      // Also for a rule that isn't configured now: its workflow keeps it in case the rule comes back.
      const store = async (): Promise<void> => {
        await gateway.unsubscribe({ site, rule }, address);
        const present = await renamed.find(site);
        if (present !== undefined && present !== site) await gateway.unsubscribe({ site: present, rule }, address);
      };
      await store().catch((error: unknown) => {
        logger.warn({ site, rule, reason: String(error) }, 'Temporal did not acknowledge an unsubscription');
        throw unavailable('the request could not be stored; please try again');
      });
      const text = `${address} gets no more mail about the pull requests of the rule ${rule} of ${site}.`;
      response.type('html').send(Mustache.render(PAGE, { title: 'Unsubscribed', text }));
    })
    .all(onlyMethods('GET', 'HEAD', 'POST'));
}

/** Throws HttpError 404 for a link that isn't from our mail. */
function readLink(request: Request<Subscription & { token: string }>, keys: readonly string[]): Subscription {
  const { site, rule, address: encoded, token } = request.params;
  const address = Buffer.from(encoded, 'base64url').toString('utf8');
  const isValid = keys.some((key) => equalInConstantTime(token, tokenOf({ site, rule, address }, key)));
  if (!isValid) throw new HttpError(404, 'no such subscription');
  return { site, rule, address };
}

/** Must match activities/mails/reviewers/unsubscribe-link.ts, which makes the links and can't be imported here. */
function tokenOf({ site, rule, address }: Subscription, key: string): string {
  return createHmac('sha256', key).update(`unsubscribe\n${site}\n${rule}\n${address}`).digest('base64url');
}
