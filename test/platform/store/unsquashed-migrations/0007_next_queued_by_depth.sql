DROP INDEX "crawl_urls_queued";--> statement-breakpoint
CREATE INDEX "crawl_urls_queued" ON "crawl_urls" USING btree ("job_id","depth","id") WHERE "crawl_urls"."state" = 'queued';