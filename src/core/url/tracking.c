/* tracking.c - the parameters that the crawl profile drops, and their origins.
 *
 * A name is listed if it only identifies the visitor or the referrer and never selects content,
 * and if nobody uses it for anything else.  That excludes the short names: `sid`, `ref`, `source`,
 * `cid` and `session_id` are tracking on some sites and content on others.  Users who know a site
 * can add them (deja_url_rules_new).
 *
 * The list is sorted by bytes, for binary search; unit.params fails if a line is out of place.
 * Changing a line changes the profile's rules and their id. */
#include "core/base/compiler.h"
#include "core/url/params.h"

#define ONE(s)                                                                                    \
    {                                                                                             \
        s, sizeof s - 1, false                                                                    \
    }
#define ALL(s)                                                                                    \
    {                                                                                             \
        s, sizeof s - 1, true                                                                     \
    }

static const struct dj_name names[] = {
    ALL("ASPSESSIONID"),       /* Classic ASP: session */
    ONE("CFID"),               /* ColdFusion: session */
    ONE("CFTOKEN"),            /* ColdFusion: session */
    ONE("JSESSIONID"),         /* Java servlets: session */
    ONE("PHPSESSID"),          /* PHP: session */
    ONE("ScCid"),              /* Snapchat: click */
    ONE("XTCsid"),             /* xt:Commerce: session */
    ONE("__hsfp"),             /* HubSpot: browser */
    ONE("__hssc"),             /* HubSpot: session */
    ONE("__hstc"),             /* HubSpot: visitor */
    ONE("_branch_match_id"),   /* Branch: click */
    ONE("_branch_referrer"),   /* Branch: link that led here */
    ONE("_ga"),                /* Google Analytics: visitor, across domains */
    ONE("_gl"),                /* Google Analytics: visitor, across domains */
    ONE("_hsenc"),             /* HubSpot: recipient */
    ONE("_hsmi"),              /* HubSpot: mail */
    ONE("_kx"),                /* Klaviyo: recipient */
    ONE("_openstat"),          /* Openstat: campaign */
    ONE("cfid"),               /* ColdFusion: session */
    ONE("cftoken"),            /* ColdFusion: session */
    ONE("cjevent"),            /* CJ Affiliate: click */
    ONE("dclid"),              /* Google Campaign Manager: click */
    ONE("dicbo"),              /* Outbrain: click */
    ONE("ef_id"),              /* Adobe Advertising: click */
    ONE("elqTrack"),           /* Oracle Eloqua: link in a mail */
    ONE("elqTrackId"),         /* Oracle Eloqua: link in a mail */
    ONE("epik"),               /* Pinterest: click */
    ONE("fb_action_ids"),      /* Meta: shared action */
    ONE("fb_action_types"),    /* Meta: shared action */
    ONE("fb_source"),          /* Meta: where the link was shown */
    ONE("fbclid"),             /* Meta: click on Facebook */
    ONE("gad_campaignid"),     /* Google Ads: campaign */
    ONE("gad_source"),         /* Google Ads: where the click came from */
    ONE("gbraid"),             /* Google Ads: click in an app */
    ONE("gclid"),              /* Google Ads: click */
    ONE("gclsrc"),             /* Google Ads: where the click came from */
    ONE("hsCtaTracking"),      /* HubSpot: button that was clicked */
    ALL("hsa_"),               /* HubSpot: campaign of an ad */
    ONE("igsh"),               /* Meta: share on Instagram */
    ONE("igshid"),             /* Meta: share on Instagram */
    ONE("irclickid"),          /* impact.com: click */
    ONE("jsessionid"),         /* Java servlets: session; also as ;jsessionid= in a path */
    ONE("li_fat_id"),          /* LinkedIn: click */
    ALL("matomo_"),            /* Matomo: campaign */
    ONE("mc_cid"),             /* Mailchimp: campaign */
    ONE("mc_eid"),             /* Mailchimp: recipient */
    ONE("mkt_tok"),            /* Adobe Marketo: recipient */
    ONE("ml_subscriber"),      /* MailerLite: recipient */
    ONE("ml_subscriber_hash"), /* MailerLite: recipient */
    ONE("msclkid"),            /* Microsoft Advertising: click */
    ALL("mtm_"),               /* Matomo: campaign */
    ONE("oly_anon_id"),        /* Omeda: visitor */
    ONE("oly_enc_id"),         /* Omeda: recipient */
    ONE("osCsid"),             /* osCommerce: session */
    ONE("oscsid"),             /* osCommerce: session */
    ONE("phpsessid"),          /* PHP: session */
    ALL("piwik_"),             /* Matomo under its old name: campaign */
    ONE("pk_campaign"),        /* Matomo under its old name: campaign */
    ONE("pk_cid"),             /* Matomo under its old name: campaign */
    ONE("pk_content"),         /* Matomo under its old name: campaign */
    ONE("pk_keyword"),         /* Matomo under its old name: keyword */
    ONE("pk_kwd"),             /* Matomo under its old name: keyword */
    ONE("pk_medium"),          /* Matomo under its old name: campaign */
    ONE("pk_source"),          /* Matomo under its old name: campaign */
    ONE("rdt_cid"),            /* Reddit: click */
    ONE("ref_src"),            /* X (Twitter): embedded post that led here */
    ONE("s_kwcid"),            /* Adobe Advertising: keyword */
    ONE("srsltid"),            /* Google Merchant Center: click on a listing */
    ONE("sznclid"),            /* Seznam: click */
    ONE("tblci"),              /* Taboola: click */
    ONE("ttclid"),             /* TikTok: click */
    ONE("twclid"),             /* X (Twitter): click */
    ALL("utm_"),               /* Google Analytics and its imitators: campaign, source, medium */
    ONE("vero_conv"),          /* Vero: mail */
    ONE("vero_id"),            /* Vero: recipient */
    ONE("wbraid"),             /* Google Ads: click on the web, iOS */
    ONE("wickedid"),           /* Wicked Reports: click */
    ONE("xtor"),               /* AT Internet: campaign */
    ONE("yclid"),              /* Yandex Direct: click */
    ONE("ysclid"),             /* Yandex search: click */
    ONE("zenid"),              /* Zen Cart: session */
};

const struct dj_params dj_params_tracking = {{names, DJ_ARRAY_LEN(names)}, {NULL, 0}};
