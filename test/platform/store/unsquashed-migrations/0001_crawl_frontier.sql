CREATE TABLE "crawl_batches" (
	"job_id" text NOT NULL,
	"number" integer NOT NULL,
	"state" text NOT NULL,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"object_key" text,
	"size_bytes" bigint,
	"page_count" integer DEFAULT 0 NOT NULL,
	"files_json" text,
	"broken_json" text,
	CONSTRAINT "crawl_batches_job_id_number_pk" PRIMARY KEY("job_id","number")
);
--> statement-breakpoint
CREATE TABLE "crawl_urls" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "crawl_urls_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" text NOT NULL,
	"url" text NOT NULL,
	"rank" smallint NOT NULL,
	"depth" integer NOT NULL,
	"found_on" text,
	"state" text NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"outcome" text,
	"status" smallint,
	"reason" text,
	"redirect_to" text,
	"content_type" text,
	"is_page" boolean DEFAULT false NOT NULL,
	"object_key" text,
	"byte_offset" bigint,
	"byte_length" bigint,
	"extraction_length" integer,
	"sha256" text,
	"path" text,
	"fragment" text,
	"batch" integer
);
--> statement-breakpoint
CREATE TABLE "crawls" (
	"job_id" text PRIMARY KEY NOT NULL,
	"settings_json" text NOT NULL,
	"phase" text DEFAULT 'crawling' NOT NULL,
	"url_count" integer DEFAULT 0 NOT NULL,
	"settled_count" integer DEFAULT 0 NOT NULL,
	"raw_bytes" bigint DEFAULT 0 NOT NULL,
	"skipped_count" integer DEFAULT 0 NOT NULL,
	"batch_count" integer DEFAULT 0 NOT NULL,
	"page_count" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crawls" ADD CONSTRAINT "crawls_job_id_export_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."export_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "crawl_urls_once" ON "crawl_urls" USING btree ("job_id","url");--> statement-breakpoint
CREATE INDEX "crawl_urls_queued" ON "crawl_urls" USING btree ("job_id","id") WHERE "crawl_urls"."state" = 'queued';--> statement-breakpoint
CREATE INDEX "crawl_urls_leased" ON "crawl_urls" USING btree ("job_id","lease_token") WHERE "crawl_urls"."state" = 'leased';--> statement-breakpoint
CREATE INDEX "crawl_urls_of_batch" ON "crawl_urls" USING btree ("job_id","batch") WHERE "crawl_urls"."batch" is not null;