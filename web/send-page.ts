import type { Request, Response } from 'express';
import type { VNode } from 'preact';
import { renderBounded } from './render-bounded.ts';
import { sendCompressed } from './send-compressed.ts';

/** Scripts, styles and connections of this host only; nothing inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The headers of every page. Pages show what only this session may see, so nothing keeps them. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Not `no-referrer`: browsers would send forms with the origin `null`.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow',
} as const;

/** Renders a page and sends it with its headers. */
export async function sendPage(request: Request, response: Response, page: VNode, status = 200): Promise<void> {
  const html = `<!doctype html>${await renderBounded(page)}`;
  response.status(status).set(PAGE_HEADERS).type('html');
  await sendCompressed(request, response, Buffer.from(html));
}
