ALTER TABLE "pull_requests" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD COLUMN "review_key" text;