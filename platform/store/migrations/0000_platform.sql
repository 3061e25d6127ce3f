CREATE TABLE "agent_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"sequence" bigserial NOT NULL,
	"organization_id" text NOT NULL,
	"project_id" text NOT NULL,
	"repository" text NOT NULL,
	"ref" text,
	"model" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"pr_link" text,
	"branch" text NOT NULL,
	"run" integer DEFAULT 1 NOT NULL,
	"error" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "agent_jobs_sequence_unique" UNIQUE("sequence"),
	CONSTRAINT "agent_jobs_status_known" CHECK ("agent_jobs"."status" in ('active', 'completed', 'failed', 'archived'))
);
--> statement-breakpoint
CREATE TABLE "agent_runs" (
	"job_id" text NOT NULL,
	"run" integer NOT NULL,
	"prompt_json" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"base_commit" text,
	"outcome_kind" text,
	"outcome_tree" text,
	"outcome_pack_key" text,
	"outcome_error" text,
	"commit" text,
	"ended_pr_link" text,
	"pr_link" text,
	"log_key" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "agent_runs_job_id_run_pk" PRIMARY KEY("job_id","run"),
	CONSTRAINT "agent_runs_status_known" CHECK ("agent_runs"."status" in ('active', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "crawl_notices" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "crawl_notices_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"job_id" text NOT NULL,
	"url" text,
	"text" text NOT NULL
);
--> statement-breakpoint
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
	"pieces_json" text,
	"parts_json" text,
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
	"etag" text,
	"last_modified" text,
	"links_offset" bigint,
	"links_length" integer,
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
	"file_count" integer DEFAULT 0 NOT NULL,
	"decoded_bytes" bigint DEFAULT 0 NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"skipped_count" integer DEFAULT 0 NOT NULL,
	"batch_count" integer DEFAULT 0 NOT NULL,
	"page_count" integer DEFAULT 0 NOT NULL,
	"reuse_key" text,
	"keep" boolean DEFAULT false NOT NULL,
	"base_job_id" text,
	"archive_head_bytes" integer,
	"walked" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "discarded_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"discarded_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "export_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"sequence" bigserial NOT NULL,
	"organization_id" text NOT NULL,
	"project_id" text NOT NULL,
	"domain" text NOT NULL,
	"version" text NOT NULL,
	"paths_json" text,
	"status" text DEFAULT 'queued' NOT NULL,
	"progress" double precision DEFAULT 0 NOT NULL,
	"page_count" integer DEFAULT 0 NOT NULL,
	"error" text,
	"archive_key" text,
	"archive_sha256" text,
	"archive_size_bytes" bigint,
	"content_sha256" text,
	"report_key" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "export_jobs_sequence_unique" UNIQUE("sequence"),
	CONSTRAINT "export_jobs_status_known" CHECK ("export_jobs"."status" in ('queued', 'running', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "forge_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"sequence" bigserial NOT NULL,
	"project_id" text NOT NULL,
	"event" text NOT NULL,
	"body_json" text NOT NULL,
	"attempt_count" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lease_token" text,
	"lease_until" timestamp (3) with time zone,
	"last_error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	CONSTRAINT "forge_deliveries_sequence_unique" UNIQUE("sequence")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp (3) with time zone,
	"refresh_token_expires_at" timestamp (3) with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_once" UNIQUE("provider_id","account_id")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"detail" text
);
--> statement-breakpoint
CREATE TABLE "auth_rate_limits" (
	"id" text PRIMARY KEY NOT NULL,
	"key" text NOT NULL,
	"count" integer NOT NULL,
	"last_request" bigint NOT NULL,
	CONSTRAINT "auth_rate_limits_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"email" text NOT NULL,
	"role" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"inviter_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_once" UNIQUE("organization_id","user_id"),
	CONSTRAINT "members_role_known" CHECK ("members"."role" in ('owner', 'developer', 'reviewer'))
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"name" text,
	"public_key" text NOT NULL,
	"credential_id" text NOT NULL,
	"counter" integer NOT NULL,
	"device_type" text NOT NULL,
	"backed_up" boolean NOT NULL,
	"transports" text,
	"aaguid" text,
	"created_at" timestamp (3) with time zone DEFAULT now(),
	CONSTRAINT "passkeys_credential_id_unique" UNIQUE("credential_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token" text NOT NULL,
	"active_organization_id" text,
	"ip_address" text,
	"user_agent" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "setup_links" (
	"sha256" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"name" text,
	"prefix" text NOT NULL,
	"sha256" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"allowed_addresses" jsonb,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_sha256_unique" UNIQUE("sha256")
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" text DEFAULT 'free' NOT NULL,
	"slug" text GENERATED ALWAYS AS (id) STORED,
	"logo" text,
	"metadata" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organizations_name_unique" UNIQUE("name"),
	CONSTRAINT "organizations_plan_known" CHECK ("organizations"."plan" in ('free', 'enterprise'))
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"domain" text NOT NULL,
	"origin" text,
	"repository" text,
	"ref" text,
	"settings" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "projects_domain_within_organization" UNIQUE("organization_id","domain")
);
--> statement-breakpoint
CREATE TABLE "pull_request_reviewers" (
	"pull_request_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"requested_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pull_request_reviewers_pull_request_id_kind_name_pk" PRIMARY KEY("pull_request_id","kind","name")
);
--> statement-breakpoint
CREATE TABLE "pull_request_reviews" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"pull_request_id" text NOT NULL,
	"reviewer" text NOT NULL,
	"verdict" text NOT NULL,
	"body" text NOT NULL,
	"commit_sha" text NOT NULL,
	"submitted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pull_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text,
	"repository" text NOT NULL,
	"number" integer NOT NULL,
	"author" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"head_branch" text NOT NULL,
	"head_sha" text NOT NULL,
	"base_branch" text NOT NULL,
	"base_sha" text NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"merge_commit_sha" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ended_by" text,
	"review_key" text,
	CONSTRAINT "pull_requests_number_within_repository" UNIQUE("repository","number"),
	CONSTRAINT "pull_requests_state_known" CHECK ("pull_requests"."state" in ('open', 'merged', 'closed')),
	CONSTRAINT "pull_requests_merged_by_a_commit" CHECK (("pull_requests"."state" = 'merged') = ("pull_requests"."merge_commit_sha" is not null))
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"organization_id" text NOT NULL,
	"key" text NOT NULL,
	"request_sha256" text NOT NULL,
	"status" integer NOT NULL,
	"answer_json" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_organization_id_key_pk" PRIMARY KEY("organization_id","key")
);
--> statement-breakpoint
CREATE TABLE "usage_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"scope" text NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agent_jobs" ADD CONSTRAINT "agent_jobs_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_jobs" ADD CONSTRAINT "agent_jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_runs" ADD CONSTRAINT "agent_runs_job_id_agent_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."agent_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crawls" ADD CONSTRAINT "crawls_job_id_export_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."export_jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "export_jobs" ADD CONSTRAINT "export_jobs_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "export_jobs" ADD CONSTRAINT "export_jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "forge_deliveries" ADD CONSTRAINT "forge_deliveries_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_inviter_id_users_id_fk" FOREIGN KEY ("inviter_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_request_reviewers" ADD CONSTRAINT "pull_request_reviewers_pull_request_id_pull_requests_id_fk" FOREIGN KEY ("pull_request_id") REFERENCES "public"."pull_requests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_request_reviews" ADD CONSTRAINT "pull_request_reviews_pull_request_id_pull_requests_id_fk" FOREIGN KEY ("pull_request_id") REFERENCES "public"."pull_requests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pull_requests" ADD CONSTRAINT "pull_requests_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_jobs_newest_first" ON "agent_jobs" USING btree ("project_id","sequence");--> statement-breakpoint
CREATE INDEX "agent_jobs_active" ON "agent_jobs" USING btree ("sequence") WHERE "agent_jobs"."status" = 'active';--> statement-breakpoint
CREATE INDEX "crawl_notices_of_job" ON "crawl_notices" USING btree ("job_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "crawl_urls_once" ON "crawl_urls" USING btree ("job_id","url");--> statement-breakpoint
CREATE INDEX "crawl_urls_queued" ON "crawl_urls" USING btree ("job_id","depth","id") WHERE "crawl_urls"."state" = 'queued';--> statement-breakpoint
CREATE INDEX "crawl_urls_leased" ON "crawl_urls" USING btree ("job_id","lease_token") WHERE "crawl_urls"."state" = 'leased';--> statement-breakpoint
CREATE INDEX "crawl_urls_of_batch" ON "crawl_urls" USING btree ("job_id","batch") WHERE "crawl_urls"."batch" is not null;--> statement-breakpoint
CREATE INDEX "discarded_objects_due" ON "discarded_objects" USING btree ("due_at");--> statement-breakpoint
CREATE UNIQUE INDEX "export_jobs_one_active_per_project" ON "export_jobs" USING btree ("project_id") WHERE "export_jobs"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "export_jobs_newest_first" ON "export_jobs" USING btree ("organization_id","sequence");--> statement-breakpoint
CREATE INDEX "export_jobs_of_project" ON "export_jobs" USING btree ("project_id","sequence");--> statement-breakpoint
CREATE INDEX "forge_deliveries_waiting" ON "forge_deliveries" USING btree ("next_attempt_at") WHERE "forge_deliveries"."delivered_at" is null and "forge_deliveries"."failed_at" is null;--> statement-breakpoint
CREATE INDEX "forge_deliveries_of_project" ON "forge_deliveries" USING btree ("project_id","sequence");--> statement-breakpoint
CREATE INDEX "accounts_of_user" ON "accounts" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "audit_log_of_organization" ON "audit_log" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "invitations_of_organization" ON "invitations" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "invitations_by_email" ON "invitations" USING btree ("email");--> statement-breakpoint
CREATE INDEX "members_of_user" ON "members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "passkeys_of_user" ON "passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_of_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "verifications_by_identifier" ON "verifications" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "api_keys_by_organization" ON "api_keys" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "pull_request_reviews_in_order" ON "pull_request_reviews" USING btree ("pull_request_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "pull_requests_one_open_per_branch" ON "pull_requests" USING btree ("repository","head_branch") WHERE "pull_requests"."state" = 'open';--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "usage_log_by_scope" ON "usage_log" USING btree ("scope","used_at");