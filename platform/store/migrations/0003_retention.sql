CREATE TABLE "store_owner" (
	"id" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
ALTER TABLE "export_jobs" ADD COLUMN "link_requested_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "export_jobs" ADD COLUMN "expired_at" timestamp (3) with time zone;