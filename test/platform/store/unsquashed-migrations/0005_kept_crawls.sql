ALTER TABLE "crawl_batches" ADD COLUMN "pieces_json" text;--> statement-breakpoint
ALTER TABLE "crawl_batches" ADD COLUMN "parts_json" text;--> statement-breakpoint
ALTER TABLE "crawl_urls" ADD COLUMN "etag" text;--> statement-breakpoint
ALTER TABLE "crawl_urls" ADD COLUMN "last_modified" text;--> statement-breakpoint
ALTER TABLE "crawl_urls" ADD COLUMN "links_offset" bigint;--> statement-breakpoint
ALTER TABLE "crawl_urls" ADD COLUMN "links_length" integer;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "reuse_key" text;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "keep" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "base_job_id" text;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "archive_head_bytes" integer;