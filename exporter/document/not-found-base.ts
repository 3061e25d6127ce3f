/**
 * Goes to the start of the not-found page's head. A host serves this page at any URL, so its relative links need the
 * root as base. Opened by its own name (from disk or below a subpath), it needs no base.
 */
export const NOT_FOUND_BASE =
  '<script>(function(s,b){if(!/^http/.test(location.protocol))return;if(/\\/404(\\.html)?$/.test(location.pathname))return;b.href="/";s.parentNode.insertBefore(b,s)})(document.currentScript,document.createElement("base"))</script>';
