// toile/air.h: air that cloth moves in: drag, wind, gusts, eddies and lee. SI units.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Wind velocity at one time.
typedef struct tl_wind_key {
    double time;
    tl_vec3 velocity;
} tl_wind_key;

/// Air: pressure drag 1/2 density drag A |v_n| v_n n and skin drag `skin` A v_t on every face, v the wind
/// relative to the face (Wejchert & Haumann 1991, with the square law).
typedef struct tl_air_def {
    double density;           ///< [kg/m^3], >= 0. Default 1.2.
    double drag;              ///< pressure drag coefficient C_d, >= 0. Default 1.2.
    double skin;              ///< tangential drag [kg/(m^2 s)], >= 0. Default 0.02.
    tl_vec3 wind;             ///< [m/s]. Default 0.
    const tl_wind_key *keys;  ///< wind over time, smooth in between; replaces `wind` when key_count > 0. Borrowed.
    int32_t key_count;
    double gust;         ///< gusts: relative strength of the variation, >= 0. Default 0: none.
    double gust_period;  ///< [s], > 0. Default 1.5.
    double turbulence;   ///< eddies that vary in space and drift with the wind: root mean square of each component
                         ///< relative to the wind's speed, >= 0. Default 0.2; 0: none.
    double turbulence_length;  ///< size of the largest eddies [m], > 0 if there are any. Default 0.5.
    double lee;          ///< length of the lee behind bodies and cloth, in which the wind comes back [m], >= 0. Default
                         ///< 0: wind goes through everything.
    double reserved[9];  ///< room for later fields; zero
} tl_air_def;

#ifdef __cplusplus
}
#endif
