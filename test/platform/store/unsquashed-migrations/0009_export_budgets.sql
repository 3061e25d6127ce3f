ALTER TABLE "crawls" ADD COLUMN "file_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "decoded_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "crawls" ADD COLUMN "stored_bytes" bigint DEFAULT 0 NOT NULL;