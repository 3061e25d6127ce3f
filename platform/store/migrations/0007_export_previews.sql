CREATE TABLE "export_previews" (
	"token_sha256" text PRIMARY KEY NOT NULL,
	"job_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "export_previews" ADD CONSTRAINT "export_previews_job_id_export_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."export_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "export_previews_by_expiry" ON "export_previews" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "export_previews_of_job" ON "export_previews" USING btree ("job_id");